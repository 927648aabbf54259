import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ControlPlane } from '#test/runner/program/control-plane.ts';
import { type Figure, round, type Section } from './figures.ts';
import { keeperOf } from './kept-state.ts';

const resources = 5000;
const snapshots = 50;

/**
 * In Terraform's format for `terraform_data` with for_each: sorted by key, so that new entries are inserted in between.
 */
const instances = Array.from({ length: resources }, (_, n) => ({
  index_key: `r${String((n * 7919) % resources).padStart(5, '0')}`,
  schema_version: 0,
  attributes: {
    id: randomUUID(),
    input: { value: `value-${n}`, type: 'string' },
    output: null,
    triggers_replace: null,
  },
  sensitive_attributes: [],
  identity_schema_version: 0,
}));

const stateOf = (count: number): string => {
  const sorted = instances.slice(0, count).sort((a, b) => (a.index_key < b.index_key ? -1 : 1));
  const provider = 'provider["terraform.io/builtin/terraform"]';
  const resource = { mode: 'managed', type: 'terraform_data', name: 'it', provider, instances: sorted };
  return JSON.stringify(
    { version: 4, terraform_version: '1.11.4', serial: count, lineage: 'l', outputs: {}, resources: [resource] },
    undefined,
    2,
  );
};

export const stateBytes: Section = {
  about: `${snapshots} snapshots of a state that grows to ${resources} resources`,
  needsPlatform: false,
  async *measure(): AsyncGenerator<Figure> {
    const folder = await mkdtemp(join(tmpdir(), 'stepform-state-bytes-'));
    const plane = await ControlPlane.start();
    plane.takesContent = true;
    try {
      const file = join(folder, 'terraform.tfstate');
      const keeper = keeperOf(plane, folder);
      await keeper.watch();
      for (let n = 1; n < snapshots; n++) {
        const had = plane.received;
        await writeFile(file, stateOf((n * resources) / snapshots));
        while (plane.received === had) await sleep(20);
      }
      await writeFile(file, stateOf(resources));
      await keeper.finish();
      const { size } = await stat(file);
      if (plane.violations.length) throw new Error(plane.violations.join('; '));
      yield { name: 'the final state', value: round(size / 1024), unit: 'KB' };
      yield { name: 'stored as a whole', value: plane.states.length, unit: 'times' };
      yield { name: 'sent for it, against its size', value: round(plane.received / size, 2), unit: '×', atMost: 5 };
    } finally {
      await plane.stop();
      await rm(folder, { recursive: true });
    }
  },
};
