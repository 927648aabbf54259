import { describe, expect, it } from 'vitest';
import type { Job } from '#run/protocols/runner.ts';
import type { Settings } from '#runner/program/settings.ts';
import { readerEnvironment, terraformEnvironment } from '#runner/program/terraform/environment.ts';
import { garbageCollection } from '#runner/program/terraform/memory.ts';

const gibibyte = 2 ** 30;

describe('garbage collection of Terraform and its providers', () => {
  it('is rarer with enough memory, up to a third of it for each process', () => {
    expect(garbageCollection(12 * gibibyte)).toEqual({ GOGC: '400', GOMEMLIMIT: '4096MiB' });
  });

  it('is unchanged in a small container', () => {
    expect(garbageCollection(2 * gibibyte)).toEqual({});
    expect(garbageCollection(4 * gibibyte - 1)).toEqual({});
  });

  it('follows a variable of the workspace or the operator', () => {
    const job = {
      runId: 'run-1',
      workspace: { name: 'network' },
      operation: {},
      variables: [{ key: 'GOGC', value: '50', category: 'env', hcl: false, sensitive: false }],
    } as unknown as Job;
    const settings = { hosts: [], passOn: ['GOMEMLIMIT'], inherited: { GOMEMLIMIT: '1GiB', PATH: '/bin' } };
    const folders = { home: '/home', temporary: '/tmp', availableBytes: 12 * gibibyte };
    const environment = terraformEnvironment(job, settings as unknown as Settings, folders);
    expect(environment).toMatchObject({ GOGC: '50', GOMEMLIMIT: '1GiB' });
    expect(readerEnvironment(job, settings as unknown as Settings, folders)).not.toHaveProperty('GOGC', '50');
  });
});
