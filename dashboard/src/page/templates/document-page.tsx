// One document: its fields as a form, its Liquid text, and what it renders to, shown in a frame that may do nothing.

import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../component/button.tsx';
import { useCommand } from '../../component/command.ts';
import { Page, Panel } from '../../component/page.tsx';
import { Answered } from '../../component/state.tsx';
import { Time } from '../../component/time.tsx';
import { complain } from '../../component/toast.tsx';
import { useRefusal } from '../../data/session-query.ts';
import { addDocumentVersion, renderDocument, useDocument, useDocumentVersions } from '../../data/templates.ts';
import { clipped } from '../../model/text.ts';

type Document = NonNullable<ReturnType<typeof useDocument>['data']>;

export function DocumentPage() {
  const { set, documentId } = useParams({ strict: false }) as { set: string; documentId: string };
  const document = useDocument(set, documentId);
  return (
    <Answered query={document} what="the document">
      {(data) => <DocumentShown key={data.version} set={set} document={data} />}
    </Answered>
  );
}

interface Field {
  readonly key: string;
  readonly label?: string | undefined;
  readonly required?: boolean | undefined;
}

function fieldsOf(fields: unknown): readonly Field[] {
  if (Array.isArray(fields)) return fields as Field[];
  return (fields as { fields?: readonly Field[] } | undefined)?.fields ?? [];
}

function DocumentShown({ set, document }: { readonly set: string; readonly document: Document }) {
  const [text, setText] = useState(document.bodyTemplate);
  const [answers, setAnswers] = useState<Record<string, string>>({});
  const [shown, setShown] = useState<string | null>(null);
  const command = useCommand(['document', set, document.id]);
  const refused = useRefusal('templates:manage');
  const preview = async () => {
    try {
      setShown((await renderDocument(set, document.id, answers)).renderedBody);
    } catch (error) {
      complain('The preview was refused', error);
    }
  };
  const save = () =>
    command('The new version', () =>
      addDocumentVersion(set, document.id, {
        displayName: document.displayName,
        fields: document.fields,
        bodyTemplate: text,
      }),
    );
  return (
    <Page
      title={clipped(document.displayName, 80)}
      detail={
        <>
          {set}/{document.id}, v{document.version}
        </>
      }
      actions={
        <>
          <Button onClick={() => void preview()}>Preview</Button>
          <Button
            kind="primary"
            reason={refused ?? (text === document.bodyTemplate ? 'Nothing has changed' : null)}
            onClick={() => void save()}
          >
            Save as a new version
          </Button>
        </>
      }
    >
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <Panel title="Text, in Liquid">
          <textarea
            aria-label="Text, in Liquid"
            className="block h-96 w-full resize-y bg-transparent p-4 font-mono text-xs outline-none"
            spellCheck={false}
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
        </Panel>
        <div className="flex flex-col gap-4">
          <Panel title="Answers">
            <div className="flex flex-col gap-3 p-4">
              {fieldsOf(document.fields).map(({ key, label = key, required = false }) => (
                <label key={key} className="flex flex-col gap-1">
                  <span className="text-muted">
                    {clipped(label, 100)}
                    {required && <span className="text-bad"> *</span>}
                  </span>
                  <input
                    className="field"
                    value={answers[key] ?? ''}
                    onChange={({ target }) => setAnswers({ ...answers, [key]: target.value })}
                  />
                </label>
              ))}
            </div>
          </Panel>
          {shown !== null && (
            <Panel title="Preview of the saved version">
              <Rendered text={shown} />
            </Panel>
          )}
          <Versions set={set} id={document.id} />
        </div>
      </div>
    </Page>
  );
}

const HTML = /<\/?[a-z][^>]*>/i;

/** HTML stands in a frame without scripts, forms, links to the page around it, or an origin of its own. */
function Rendered({ text }: { readonly text: string }) {
  const [asText, setAsText] = useState(!HTML.test(text));
  return (
    <div className="flex flex-col">
      {HTML.test(text) && (
        <Button small kind="quiet" className="m-2 self-start" onClick={() => setAsText(!asText)}>
          {asText ? 'As a page' : 'As text'}
        </Button>
      )}
      {asText ? (
        <pre className="max-h-96 overflow-auto p-4 text-xs whitespace-pre-wrap wrap-anywhere">{text}</pre>
      ) : (
        <iframe title="Preview" sandbox="" srcDoc={text} className="h-96 w-full bg-white" />
      )}
    </div>
  );
}

function Versions({ set, id }: { readonly set: string; readonly id: string }) {
  const versions = useDocumentVersions(set, id);
  return (
    <Panel title="Versions">
      <Answered query={versions} what="the versions" rows={2}>
        {(list) => (
          <ul className="divide-y">
            {list.map((each) => (
              <li key={each.version} className="flex gap-3 px-4 py-1.5">
                v{each.version} <span className="text-muted">{each.isEnabled ? 'on' : 'off'}</span>
                <span className="ml-auto text-xs text-muted">
                  <Time at={(each as { createdAt?: string }).createdAt} />
                </span>
              </li>
            ))}
          </ul>
        )}
      </Answered>
    </Panel>
  );
}
