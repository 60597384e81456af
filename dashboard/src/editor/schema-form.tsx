// A form made from a JSON Schema. Checked without `eval`, which the content security policy forbids.

import { type Schema, Validator } from '@cfworker/json-schema';
import Form from '@rjsf/core/lib/components/Form.js';
import type {
  ErrorSchema,
  RJSFSchema,
  RJSFValidationError,
  UiSchema,
  ValidationData,
  ValidatorType,
} from '@rjsf/utils';

interface SchemaFormProps {
  readonly schema: RJSFSchema;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  readonly idPrefix?: string;
}

const UI: UiSchema = { 'ui:submitButtonOptions': { norender: true } };

export function SchemaForm({ schema, value, onChange, idPrefix = 'form' }: SchemaFormProps) {
  return (
    <Form
      className="schema-form"
      schema={schema}
      uiSchema={UI}
      formData={value}
      validator={validator}
      liveValidate
      showErrorList={false}
      idPrefix={idPrefix}
      tagName="div"
      onChange={({ formData }) => onChange(formData)}
    >
      {/* The dialog around it has the button. */}
      <span />
    </Form>
  );
}

/** Every problem of a value, in words. */
export function schemaProblems(schema: RJSFSchema, value: unknown): string[] {
  return errorsOf(schema, value).map(({ stack }) => stack);
}

function errorsOf(schema: RJSFSchema, value: unknown): RJSFValidationError[] {
  try {
    const { errors } = new Validator(schema as Schema, '2020-12', false).validate(value ?? null);
    // The container of a wrong value is wrong too; only the innermost problem helps.
    const inner = errors.filter(
      ({ instanceLocation, keyword }) =>
        !['properties', 'items', '$ref', 'allOf'].includes(keyword) ||
        !errors.some((other) => other.instanceLocation.startsWith(`${instanceLocation}/`)),
    );
    return inner.map(({ instanceLocation, keyword, error }) => {
      const path = instanceLocation.slice(1);
      return {
        name: keyword,
        message: error,
        property: path.replaceAll('/', '.'),
        stack: `${path === '' || path === '/' ? 'It' : path.slice(1)}: ${error}`,
      };
    });
  } catch (error) {
    return [{ stack: `The schema cannot be used: ${(error as Error).message}` }];
  }
}

const validator: ValidatorType = {
  validateFormData(formData, schema): ValidationData<unknown> {
    const errors = errorsOf(schema, formData);
    const errorSchema: ErrorSchema = {};
    for (const { property = '', message = '' } of errors) {
      let place = errorSchema as Record<string, unknown>;
      for (const part of property.split('.').filter((each) => each !== '')) {
        place[part] ??= {};
        place = place[part] as Record<string, unknown>;
      }
      place.__errors = [...((place.__errors as string[] | undefined) ?? []), message];
    }
    return { errors, errorSchema };
  },
  isValid(schema, formData, rootSchema) {
    const { $defs, definitions } = rootSchema as Record<string, object | undefined>;
    return (
      errorsOf({ ...schema, ...($defs && { $defs }), ...(definitions && { definitions }) } as RJSFSchema, formData)
        .length === 0
    );
  },
  rawValidation(schema, formData) {
    return { errors: errorsOf(schema, formData) as never };
  },
};
