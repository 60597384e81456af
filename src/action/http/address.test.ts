import { describe, expect, it } from 'vitest';
import { createAddressPolicy } from './address.ts';

const strict = createAddressPolicy();

describe('refused addresses', () => {
  it.each([
    ['0.0.0.0', 'unspecified'],
    ['0.1.2.3', 'unspecified'],
    ['10.0.0.1', 'private'],
    ['10.255.255.255', 'private'],
    ['100.64.0.1', 'carrierGradeNat'],
    ['100.100.100.200', 'carrierGradeNat'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['168.63.129.16', 'reserved'],
    ['169.254.0.1', 'linkLocal'],
    ['169.254.169.254', 'linkLocal'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.0.0.192', 'reserved'],
    ['192.0.2.1', 'reserved'],
    ['192.88.99.1', 'reserved'],
    ['192.168.1.1', 'private'],
    ['198.18.0.1', 'reserved'],
    ['198.51.100.1', 'reserved'],
    ['203.0.113.1', 'reserved'],
    ['224.0.0.1', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.255', 'broadcast'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['::127.0.0.1', 'reserved'],
    ['::a00:1', 'reserved'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['::ffff:10.0.0.1', 'private'],
    ['::ffff:a9fe:a9fe', 'linkLocal'],
    ['::ffff:0:127.0.0.1', 'rfc6145'],
    ['64:ff9b::7f00:1', 'loopback'],
    ['64:ff9b::169.254.169.254', 'linkLocal'],
    ['64:ff9b:1::1', 'rfc6052'],
    ['100::1', 'discard'],
    ['2001::1', 'teredo'],
    ['2001:db8::1', 'reserved'],
    ['2002:7f00:1::', '6to4'],
    ['2002:a9fe:a9fe::', '6to4'],
    ['4000::1', 'reserved'],
    ['fc00::1', 'uniqueLocal'],
    ['fd00:ec2::254', 'uniqueLocal'],
    ['fe80::1', 'linkLocal'],
    ['fe80::1%eth0', 'linkLocal'],
    ['fec0::1', 'deprecatedSiteLocal'],
    ['ff02::1', 'multicast'],
    ['not an address', 'invalid'],
    ['', 'invalid'],
  ])('the address %s is refused as %s', (address, kind) => {
    expect(strict.refusal(address)).toBe(kind);
  });
});

describe('allowed addresses', () => {
  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '172.32.0.1',
    '100.128.0.1',
    '2606:4700:4700::1111',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
  ])('the address %s is allowed', (address) => {
    expect(strict.refusal(address)).toBeNull();
  });
});

describe('addresses that the operator allows', () => {
  it('allowing loopback allows nothing else', () => {
    const policy = createAddressPolicy({ allowLoopback: true });
    expect(policy.refusal('127.0.0.1')).toBeNull();
    expect(policy.refusal('::1')).toBeNull();
    expect(policy.refusal('::ffff:127.0.0.1')).toBeNull();
    expect(policy.refusal('10.0.0.1')).toBe('private');
    expect(policy.refusal('169.254.169.254')).toBe('linkLocal');
  });

  it('addresses and ranges can be allowed', () => {
    const policy = createAddressPolicy({ allow: ['10.1.0.0/16', '192.168.7.7', 'fd12::/16'] });
    expect(policy.refusal('10.1.200.3')).toBeNull();
    expect(policy.refusal('::ffff:10.1.0.1')).toBeNull();
    expect(policy.refusal('10.2.0.1')).toBe('private');
    expect(policy.refusal('192.168.7.7')).toBeNull();
    expect(policy.refusal('192.168.7.8')).toBe('private');
    expect(policy.refusal('fd12::5')).toBeNull();
    expect(policy.refusal('fd13::5')).toBe('uniqueLocal');
  });

  it('hosts can be allowed by name and by suffix', () => {
    const policy = createAddressPolicy({ allow: ['CRM.internal', '*.svc.internal'] });
    expect(policy.allowsHost('crm.internal')).toBe(true);
    expect(policy.allowsHost('crm.internal.')).toBe(true);
    expect(policy.allowsHost('a.crm.internal')).toBe(false);
    expect(policy.allowsHost('a.b.svc.internal')).toBe(true);
    expect(policy.allowsHost('svc.internal')).toBe(false);
    expect(policy.allowsHost('evilsvc.internal')).toBe(false);
  });

  it.each(['http://crm.internal', '10.0.0.0/33', '*', 'a..b', ''])('%j is not a valid entry of the list', (entry) => {
    expect(() => createAddressPolicy({ allow: [entry] })).toThrow('cannot be allowed: expected an address, a range');
  });
});
