// Something is wrong with the configuration: whoever starts the program can put it right, and the message says how.

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
