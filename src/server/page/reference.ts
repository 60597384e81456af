// `/docs`: every route, read from the OpenAPI document in the browser (reference-script.js).

import type { Answer } from '../route.ts';
import { pageAnswer, scriptOf } from './page.ts';

const BODY = `
<header><h1>Pawl API</h1><a href="/">Home</a><a href="/api/v1/openapi.json">OpenAPI 3.1</a></header>
<p class="muted">Every refusal is <code>{ "error": { code, message, correlationId, timestamp, details? } }</code>. Every list is <code>{ data, nextCursor? }</code>.</p>
<main id="main">Loading …</main>
`;

const SCRIPT = scriptOf('reference-script.js');

export const referencePage = (): Answer => pageAnswer('Pawl API', BODY, SCRIPT);
