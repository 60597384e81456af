// The configuration is wrong. The message says how to correct it.

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
