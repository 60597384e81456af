// Characters that no name may have, as parts of patterns: written so that tools outside JavaScript read them too, which do not know
// classes like \p{Cc}.

export const ZERO_CHARACTER = '\\u0000';
export const CONTROL_CHARACTERS = '\\u0000-\\u001f\\u007f-\\u009f';
