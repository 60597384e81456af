// How large a definition may be. Every limit exists so that compiling one costs milliseconds, whoever sent it.

/** The default; the caller may set another. */
export const MAX_NODES = 1_000;
export const MAX_EDGES = 20_000;
export const MAX_ID_LENGTH = 200;

/** How deep parameters may be nested. They are the fourth level of each format: levels count from 0, the definition. */
export const MAX_PARAMETER_DEPTH = 64;
export const MAX_DEPTH = 2 + MAX_PARAMETER_DEPTH;

/** Values (members, elements) of a whole definition. Also stops on data that is shared or cyclic. */
export const MAX_VALUES = 200_000;
/** The part of an answer or a callback that a pipeline keeps; the rest is cut off. */
export const MAX_STEP_BODY_BYTES = 256 * 1024;
/** Items of a forEach, nodes of an inline body, rounds of a repeat. */
export const MAX_ITEMS = 100_000;
export const MAX_BODY_NODES = 100;
export const MAX_ROUNDS = 100_000;
export const MAX_PARALLEL = 1_000;
/** The JSON text of one node's parameters, or of the outputs. A single expression is limited by its parser. */
export const MAX_TEMPLATE_CHARS = 1_000_000;
/** Of the payload that a schedule gives to each of its executions, as JSON. */
export const MAX_SCHEDULE_PAYLOAD_CHARS = 65_536;

/** Triggers that one file brings along. */
export const MAX_FILE_TRIGGERS = 20;
