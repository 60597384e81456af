// The official workflow templates as they stand in templates/: one JSON file each, named after its id.

import { readdirSync, readFileSync } from 'node:fs';
import type { JsonObject } from '../../core/json/json.ts';
import type { NewWorkflowTemplate } from '../template-port.ts';

const FOLDER = new URL('../../../templates/', import.meta.url);

interface TemplateFile {
  readonly id: string;
  readonly displayName: string;
  readonly description: string;
  readonly category: string;
  readonly tags: string[];
  readonly configSchema: JsonObject;
  readonly definition: JsonObject;
}

export function readOfficialTemplates(): NewWorkflowTemplate[] {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('.json'));
  return files.sort().map((file) => {
    const template = JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as TemplateFile;
    const { id, definition, configSchema, displayName, description, category, tags } = template;
    if (file !== `${id}.json`) throw new Error(`The template "${id}" must be in ${id}.json, not in ${file}`);
    return {
      templateId: id,
      displayName,
      description,
      category,
      tags,
      author: 'Pawl',
      thumbnailUrl: null,
      definition: JSON.stringify(definition),
      configSchema: JSON.stringify(configSchema),
    };
  });
}
