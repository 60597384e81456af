// The identity of a plan: two definitions with the same checksum run the same way, whatever the order of their keys. Publishing
// compares checksums to find out whether anything changed. Expressions and templates count as they were written, not as compiled
// trees, so a better compiler does not create new versions.

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { canonicalJson, type Json, type JsonObject } from '../json/json.ts';
import type { Template } from '../template/template.ts';
import type { Body, Plan, PlanEdge, PlanNode, Step } from './plan.ts';

/** Computed on first use: a plan that is only validated or run never needs it. JSON.stringify sees it like any field. */
export function withChecksum(plan: Omit<Plan, 'checksum'>): Plan {
  let known: string | undefined;
  return {
    ...plan,
    get checksum() {
      known ??= sha256Hex(canonicalJson(asWritten(plan)));
      return known;
    },
  };
}

/** Of the text's UTF-8 bytes. */
export function sha256Hex(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)));
}

/** Without its name: a name does not change how a plan runs. */
function asWritten({ namedVersion: _name, ...plan }: Omit<Plan, 'checksum'>): object {
  return {
    ...plan,
    nodes: plan.nodes.map(nodeAsWritten),
    edges: plan.edges.map(edgeAsWritten),
    outputs: templateAsWritten(plan.outputs),
  };
}

/** `incoming`, `outgoing` and `retain` follow from the rest. */
function nodeAsWritten({ incoming: _in, outgoing: _out, retain: _retain, ...node }: PlanNode): object {
  return {
    ...node,
    step: stepAsWritten(node.step),
    parameters: templateAsWritten(node.parameters),
    condition: node.condition?.source ?? null,
  };
}

function edgeAsWritten(edge: PlanEdge): object {
  return { ...edge, condition: edge.condition?.source ?? null };
}

function stepAsWritten(step: Step): object {
  if (step.kind === 'wait') {
    const events = step.events.map((event) => ({ ...event, key: templateAsWritten(event.key) }));
    return { ...step, events, until: step.until?.source ?? null };
  }
  if (step.kind === 'forEach') return { ...step, items: templateAsWritten(step.items), body: bodyAsWritten(step.body) };
  if (step.kind === 'repeat') {
    const until = step.until.source;
    return { ...step, until, collect: templateAsWritten(step.collect), body: bodyAsWritten(step.body) };
  }
  if (step.kind !== 'sleep' || typeof step.durationMs === 'number') return step;
  return { ...step, durationMs: templateAsWritten(step.durationMs) };
}

function bodyAsWritten(body: Body): object {
  const { nodes, edges, outputs } = body;
  return {
    ...body,
    nodes: nodes.map(nodeAsWritten),
    edges: edges.map(edgeAsWritten),
    outputs: templateAsWritten(outputs),
  };
}

function templateAsWritten(template: Template | null): Json {
  if (template === null) return null;
  switch (template.kind) {
    case 'literal':
      return template.value;
    case 'value':
      return `{{${template.piece.source}}}`;
    case 'text':
      return template.parts.map((part) => (typeof part === 'string' ? part : `{{${part.source}}}`)).join('');
    case 'array':
      return template.items.map(templateAsWritten);
    case 'object':
      return Object.fromEntries(template.entries.map(([key, value]) => [key, templateAsWritten(value)])) as JsonObject;
  }
}
