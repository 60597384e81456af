// Characters that no name may contain, as parts of patterns. They are spelled out because tools outside JavaScript do not know
// classes like \p{Cc}.

export const ZERO_CHARACTER = '\\u0000';
export const CONTROL_CHARACTERS = '\\u0000-\\u001f\\u007f-\\u009f';
