import { expect, it } from 'vitest';
import { findAddress } from '#clients/cli/address.ts';

const local = {
  url: 'http://localhost:8080',
  httpsUrl: 'https://localhost:8443',
  organization: 'acme',
  token: 't',
  path: '.stepform/local.json',
};

it.each([
  undefined,
  'localterraform.com',
  'localhost:8080',
  'http://localhost:8080',
  'localhost:8443',
  'https://localhost:8443/',
])('the platform on this machine has one name, also as %s', (option) => {
  expect(findAddress({ option, block: undefined, local, env: {} })).toMatchObject({
    url: 'http://localhost:8080',
    host: 'localhost:8443',
  });
});

it('another host has its own name', () => {
  const options = { option: 'https://tf.example.com', block: undefined, local, env: {} };
  expect(findAddress(options)).toMatchObject({ url: 'https://tf.example.com', host: 'tf.example.com' });
});
