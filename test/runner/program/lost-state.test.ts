import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readKeptState } from '#platform/formats/kept-state.ts';
import { hasGo, withDriftProvider } from '#test/e2e/support/drift-provider.ts';
import { isRoot, newSharedFolder, sharedFolder } from '#test/e2e/support/shared-folder.ts';
import { archive, Bench, type Finished, keptStateKey } from './support.ts';

/** Every resource that an apply creates is in its state, or its report warns that it may not be. */

const bench = Bench.use();

/** A folder that rooms share with Terraform. */
const shared: Record<string, string> = isRoot ? { STEPFORM_ROOM_FOLDERS: sharedFolder() } : {};
/** If Terraform runs as separate users, a run that fills the disk is stopped before it is full (terraform/disk.ts). */
const unwatched = { STEPFORM_TERRAFORM_USERS: 'none' };

/** A file outside of the runner's folders, to which each resource adds a line when it is created. */
const openLedger = () => {
  const folder = newSharedFolder('ledger-');
  const file = join(folder, 'made');
  appendFileSync(file, '');
  chmodSync(file, 0o666);
  return {
    file,
    made: () => readFileSync(file, 'utf8').split('\n').filter(Boolean).sort(),
    close: () => rmSync(folder, { recursive: true }),
  };
};
type Ledger = ReturnType<typeof openLedger>;

/** Resources that are created one after the other, each with a command after its line in the ledger. */
const chain = ({ file }: Ledger, commands: Record<string, string>): string => {
  let before = '';
  return Object.entries(commands)
    .map(([name, command]) => {
      const depends = before && `depends_on = [terraform_data.${before}]\n`;
      before = name;
      const line = `echo ${name} >> ${file}; ${command}`;
      // So large that each one fills more of the disk.
      const input = 'input = join("", [for i in range(500) : "a part of a value that is not small "])\n';
      return `resource "terraform_data" "${name}" {\n${depends}${input}provisioner "local-exec" {\ncommand = ${JSON.stringify(line)}\n}\n}\n`;
    })
    .join('');
};

const names = (): string[] => {
  const content = bench.plane.current()?.content?.toString() ?? '{}';
  return (JSON.parse(content).resources ?? []).map(({ name }: { name: string }) => name).sort();
};

/** Every created resource is in a state, unless the report warns of missing changes. */
const expectNothingForgotten = ({ report }: Finished, ledger: Ledger): void => {
  const forgotten = ledger.made().filter((name) => !names().includes(name));
  const isSaid = report?.unrecorded !== undefined || report?.unsavedState !== undefined;
  expect({ forgotten, isSaid }).toSatisfy((seen) => seen.forgotten.length === 0 || seen.isSaid);
};

const withLedger = async (work: (ledger: Ledger) => Promise<void>): Promise<void> => {
  const ledger = openLedger();
  try {
    await work(ledger);
  } finally {
    ledger.close();
  }
};

describe('an apply', () => {
  it('with a state flag in TF_CLI_ARGS_apply does nothing, and names the flag', () =>
    withLedger(async (ledger) => {
      const configuration = await archive({ 'main.tf': chain(ledger, { a: ':' }) });
      const variables = [{ key: 'TF_CLI_ARGS_apply', value: '-state-out=/tmp/elsewhere', category: 'env' as const }];
      const { report } = await bench.planAndApply(configuration, {}, shared, { variables });
      expect(report).toMatchObject({
        outcome: 'errored',
        message: expect.stringContaining('-state-out cannot be set'),
      });
      expect(ledger.made()).toEqual([]);
    }));

  it('that writes no state fails, although Terraform reports no error', () =>
    withLedger(async (ledger) => {
      // Terraform 1.11 prints no error if it cannot create the state's file.
      const configuration = await archive({ 'main.tf': chain(ledger, { a: 'chmod 500 ../state/network' }) });
      const applied = await bench.planAndApply(configuration, {}, shared);
      if (applied.report?.stateVersionId) return expect(process.getuid?.()).not.toBe(0);
      expect(applied.report).toMatchObject({
        outcome: 'errored',
        stateProblem: expect.stringMatching(/created or destroyed resources, but it wrote no state here/),
        unrecorded: [],
      });
      expectNothingForgotten(applied, ledger);
    }));

  it('whose Terraform is killed reports the unfinished changes', () =>
    withLedger(async (ledger) => {
      const configuration = await archive({ 'main.tf': chain(ledger, { a: ':', b: 'kill -KILL $PPID; sleep 5' }) });
      const applied = await bench.planAndApply(configuration, {}, shared);
      expect(applied.report).toMatchObject({
        outcome: 'errored',
        message: expect.stringContaining('was killed'),
        unrecorded: ['terraform_data.b'],
      });
      expect(bench.plane.current()).toMatchObject({ intermediate: true });
      expect(names()).toEqual(['a']);
      expectNothingForgotten(applied, ledger);
    }));

  it.skipIf(!hasGo)('whose provider is killed reports the unfinished changes', () =>
    withLedger(async (ledger) => {
      const made = `${ledger.file}.by-provider`;
      const killer = `until [ -e ${made} ]; do sleep 0.05; done; kill -KILL $(pgrep -P $PPID terraform-provi)`;
      const configuration = await withDriftProvider(`${chain(ledger, { killer })}
resource "drift_file" "a" {
  path      = "${made}"
  content   = "made"
  waits_for = "${ledger.file}.never"
}
`);
      const applied = await bench.planAndApply(configuration, {}, shared);
      expect(applied.report).toMatchObject({ outcome: 'errored', unrecorded: ['drift_file.a'] });
      expect(existsSync(made)).toBe(true);
      expect(names()).toEqual(['killer']);
    }),
  );
});

const mounts = process.getuid?.() === 0 && spawnSync('mount', ['--version']).status === 0;
if (!mounts) console.log('skipped: tests with a full disk need root on Linux');

/** All files of the runner are on a file system of so many MiB. */
const onSmallDisk = async (mebibytes: number, work: (folder: string) => Promise<void>): Promise<void> => {
  const folder = join(bench.directory, 'tmp');
  mkdirSync(folder, { recursive: true });
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=0711`, 'tmpfs', folder]);
  try {
    await work(folder);
  } finally {
    execFileSync('umount', ['-l', folder]);
  }
};

describe.skipIf(!mounts)('an apply on a disk that becomes full', () => {
  /** Larger than the disk, and smaller than a log may be. */
  const chatter = `yes ${'x'.repeat(200)} | head -n 30000`;

  it('because of its own log continues, and its state and its log are complete', () =>
    withLedger((ledger) =>
      onSmallDisk(4, async () => {
        const configuration = await archive({ 'main.tf': chain(ledger, { a: chatter, b: ':', c: ':' }) });
        const limits = { logBytes: 20 * 1024 * 1024 };
        const applied = await bench.planAndApply(configuration, { limits }, unwatched);
        expect(applied.code).toBe(0);
        expect(applied.report).toMatchObject({ outcome: 'finished', counts: { additions: 3 } });
        expect(names()).toEqual(['a', 'b', 'c']);
        expect(ledger.made()).toEqual(['a', 'b', 'c']);
        expect(applied.report?.artifacts).not.toHaveProperty('log');
        expect(applied.log).toMatch(/Creating\.\.\.[\s\S]+x{200}[\s\S]+Apply complete! Resources: 3 added/);
        expect(applied.record.log.at(-1)).toBe(0x03);
      }),
    ));

  it.each([
    ['text', false],
    ['JSON lines', true],
  ])('because of other files has the state that Terraform printed as %s', (_, structuredOutput) =>
    withLedger((ledger) =>
      onSmallDisk(8, async () => {
        // A folder that Terraform's user can write.
        const filler = 'cat /dev/zero > filler; echo full';
        const configuration = await archive({ 'main.tf': chain(ledger, { a: ':', b: filler, c: ':' }) });
        const applied = await bench.planAndApply(configuration, { structuredOutput }, unwatched);
        expect(ledger.made()).toContain('b');
        expect(applied.report?.outcome).toBe('errored');
        expect(names()).toEqual(ledger.made());
        expectNothingForgotten(applied, ledger);
      }),
    ),
  );

  it('and whose state cannot be uploaded keeps it on that disk, in the space of its configuration', () =>
    withLedger((ledger) =>
      onSmallDisk(8, async (folder) => {
        const filler = 'cat /dev/zero > filler; echo full';
        const configuration = await archive({ 'main.tf': chain(ledger, { a: ':', b: filler, c: ':' }) });
        const environment = { ...unwatched, STEPFORM_UNSAVED_STATES: join(folder, 'unsaved') };
        // A newer state of another user, so that the platform refuses the apply's.
        const other = { id: 'sv-x', serial: 9, lineage: 'x', md5: '', size: 0, intermediate: false, completed: false };
        bench.plane.states.push(other);
        bench.plane.fault = (path) => (path.endsWith('errored-state') ? 'expired' : undefined);
        const applied = await bench.planAndApply(configuration, {}, environment);
        const kept = readFileSync(join(folder, 'unsaved', 'run-1234567890abcdef.tfstate.encrypted'));
        const state = readKeptState(kept).open(Buffer.from(keptStateKey.key, 'base64')).toString();
        expect(JSON.parse(state).resources.map(({ name }: { name: string }) => name)).toEqual(ledger.made());
        expect(applied.report).toMatchObject({ outcome: 'errored', unsavedState: { serial: expect.any(Number) } });
        bench.plane.violations.splice(0);
      }),
    ));
});
