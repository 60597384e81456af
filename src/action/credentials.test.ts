import { describe, expect, it } from 'vitest';
import { credentialVariable, environmentCredentials } from './credentials.ts';

describe('credentials from the environment', () => {
  const { token } = environmentCredentials({
    CONNECTOR_SLACK_TOKEN: 'xoxb',
    CONNECTOR_MY_CRM_TOKEN: 'crm',
    CONNECTOR_EMPTY_TOKEN: '',
  });

  it('a credential is found by the connector id', () => {
    expect(token('slack')).toBe('xoxb');
    expect(token('my-crm')).toBe('crm');
  });

  it('an unset or empty variable is not a credential', () => {
    expect(token('monday')).toBeUndefined();
    expect(token('empty')).toBeUndefined();
  });

  it('the name of the variable can be shown to an operator', () => {
    expect(credentialVariable('my-crm')).toBe('CONNECTOR_MY_CRM_TOKEN');
  });
});
