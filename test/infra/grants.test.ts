import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { functionIds } from '#infra/stack/functions.ts';
import { objects } from '#platform/store/keys.ts';
import { bundles, permissionsOf, roleOf } from './template.ts';

/**
 * The counterpart of the local endpoint's permission checks: grants that the code of a function cannot use. The bundler
 * removes unreachable code, so a function never calls an operation that is missing in its bundle. This test cannot tell
 * which of the named prefixes a function reads, and which it writes.
 */

type Make = (...parts: string[]) => string;
/** Keys whose names are stored in records, so that no code creates them here. */
const recorded: Record<string, string[]> = {
  configurations: ['archive'],
  inputs: ['inputsKey'],
  policies: ['bundleKey', 'contentKey'],
  uploads: ['uploadKey'],
};
const signsOf = (prefix: string): string[] => [
  ...Object.entries(objects as Record<string, Make>)
    .filter(([, make]) => make('x', 'x', 'x').startsWith(`${prefix}/`))
    .map(([name]) => `.${name}(`),
  ...(recorded[prefix] ?? []),
];

/** The SDK's operation names, and calls without the SDK. */
const says = (code: string, operation: string): boolean =>
  [`"${operation}"`, `'${operation}'`, `\`${operation}\``].some((literal) => code.includes(literal));

const methods: Record<string, string> = { GetObject: 'GET', PutObject: 'PUT', DeleteObject: 'DELETE' };

/** Lines of permissionsOf that the code cannot use, e.g. `s3:GetObject bucket/runs/*`. */
const unusedIn = (code: string, lines: string[]): string[] => {
  const has = (start: string) => lines.some((line) => line.startsWith(start));
  const uses = (line: string): boolean => {
    const [, service = '', action = '', resource = ''] = /^(\w+):(\w+) (\S+)/.exec(line) ?? [];
    switch (service) {
      case 's3': {
        if (action === 'ListBucket') return has('s3:GetObject');
        const named = signsOf(resource.split('/')[1] ?? '').some((sign) => code.includes(sign));
        return named && says(code, methods[action] ?? action);
      }
      case 'kms':
        // Table and bucket use the key with the function's permissions.
        if (line.includes('kms:ViaService StringEquals dynamodb.') && has('dynamodb:')) return true;
        if (action === 'Decrypt' && (has('dynamodb:') || has('s3:GetObject'))) return true;
        return says(code, action) || (action === 'GenerateDataKey' && has('s3:PutObject'));
      case 'iam':
        return says(code, 'RunTask');
      case 'ecs':
        // RunTask tags what it creates.
        return says(code, action === 'TagResource' ? 'RunTask' : action);
      case 'dynamodb':
        return says(code, action) && (!resource.includes('/index/') || says(code, resource.split('/').at(-1) ?? ''));
      // Lambda itself writes the log, and stores events that could not be delivered.
      case 'logs':
      case 'sqs':
        return true;
      case 'lambda':
        return code.includes('x-amz-invocation-type');
      default:
        return says(code, action);
    }
  };
  return lines.filter((line) => !uses(line));
};

describe('a function has no grant that its code cannot use', () => {
  it.each(functionIds)('%s', (id) => {
    const granted = permissionsOf(roleOf(id)).filter((line) => !line.startsWith('Deny '));
    expect(unusedIn(readFileSync(bundles.functions[id].file, 'utf8'), granted)).toEqual([]);
  });
});

it('the check detects an unused grant', () => {
  const code = readFileSync(bundles.functions.EnterState.file, 'utf8');
  const excess = [
    'dynamodb:DeleteItem table',
    'dynamodb:Query table/index/due',
    'ecs:RunTask *',
    'iam:PassRole role',
    'kms:GenerateDataKey key',
    's3:GetObject bucket/states/*',
    'states:StartExecution machine',
  ];
  expect(unusedIn(code, ['dynamodb:GetItem table', 'kms:Decrypt key', ...excess])).toEqual(excess);
});
