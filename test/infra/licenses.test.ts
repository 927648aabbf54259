import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** Licences of all packages in the lock file. */

interface Locked {
  license?: string;
  dev?: boolean;
}

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Locked> };
const named = Object.entries(packages)
  .filter(([path]) => path !== '')
  .map(([path, { license = 'no licence', dev = false }]) => ({ path, license, dev }));
const others = (of: typeof named, allowed: string[]) =>
  of.filter(({ license }) => !allowed.includes(license)).map(({ path, license }) => `${path}: ${license}`);

/** They ask for their text in each copy, and for nothing else (infra/build/notices.ts). */
const permissive = ['0BSD', 'Apache-2.0', 'BSD-3-Clause', 'ISC', 'MIT', 'MIT-0'];

it('packages that a user receives are under permissive licences', () => {
  const received = named.filter(({ dev }) => !dev);
  expect(received.length).toBeGreaterThan(100);
  expect(others(received, permissive)).toEqual([]);
});

it('tools and tests use packages of known licences', () => {
  const tools = named.filter(({ dev }) => dev);
  const accepted = [
    'BlueOak-1.0.0',
    'BSD-2-Clause',
    'MIT OR Apache-2.0',
    '(MIT OR GPL-3.0-or-later)',
    'MPL-2.0',
    'Python-2.0',
  ];
  expect(others(tools, [...permissive, ...accepted])).toEqual([
    // Only tests load them.
    'node_modules/@cloud-copilot/iam-policy: AGPL-3.0-or-later',
    'node_modules/@cloud-copilot/iam-simulate: AGPL-3.0-or-later',
    'node_modules/@cloud-copilot/iam-utils: AGPL-3.0-or-later',
    // Places the boxes of diagrams while the documentation is built.
    'node_modules/elkjs: EPL-2.0',
    'node_modules/openpgp: LGPL-3.0+',
  ]);
});
