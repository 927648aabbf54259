import { chmodSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hasGo, withScriptAsProvider } from '#test/e2e/support/drift-provider.ts';
import { archive, Bench, jobFor, textOf } from '#test/runner/program/support.ts';
import { notSeparated, separatesUsers } from './plan-code.ts';
import { Reports, reachingProvider } from './reaching-provider.ts';

/**
 * A runner as the task definition runs it on Fargate (infra/stack/runner.ts): root with six capabilities, a read-only
 * root file system with one writable folder, its own processes, the image's user ids, and no namespaces for rooms.
 */

const bench = Bench.use();
const kept = ['chown', 'dac_override', 'fowner', 'kill', 'setgid', 'setuid'].map((name) => `+${name}`);
const environment = { STEPFORM_TERRAFORM_USERS: '60000', HOME: '/tmp', TMPDIR: '/tmp', STEPFORM_CACHE: '' };

beforeEach(() => {
  const temporary = join(bench.directory, 'tmp');
  // As in the image.
  chmodSync(temporary, 0o1777);
  const script = `mount --bind '${temporary}' '${temporary}' && mount -o remount,bind,ro / && mount --bind '${temporary}' /tmp &&
exec setpriv --inh-caps=-all --bounding-set=-all,${kept.join(',')} "$@"`;
  bench.before = [
    'unshare',
    '--mount',
    '--pid',
    '--ipc',
    '--fork',
    '--kill-child',
    '--mount-proc',
    'sh',
    '-c',
    script,
    'sh',
  ];
});

const look = `grep -E '^(CapEff|CapPrm|CapBnd|NoNewPrivs)' /proc/self/status
for process in /proc/[0-9]*; do
  pid=\${process#/proc/}
  tr '\\0' ' ' < $process/cmdline 2>/dev/null | grep -q 'main[.]mjs' || continue
  echo "runner is seen"
  (tr '\\0' '\\n' < $process/environ | grep -q .) 2>/dev/null && echo "environment read"
  ls $process/fd/ 2>/dev/null | grep -q . && echo "open files listed"
  (exec 3<> $process/mem) 2>/dev/null && echo "memory opened"
  kill -0 $pid 2>/dev/null && echo "signal allowed"
  ls $process/cwd/ $process/root/ 2>/dev/null | grep -q . && echo "folder listed"
done
cat ../own/* ../kept/* >/dev/null 2>&1 && echo "runner's files read"
for folder in /tmp/.cache /tmp/.cache/stepform / /etc /usr /var /var/tmp /opt /root; do (: >$folder/new) 2>/dev/null && echo "wrote to $folder"; done
cp /bin/sh /tmp/shell; chmod 6755 /tmp/shell; [ "$(/tmp/shell -c 'id -u')" = $(id -u) ] || echo "became another user"; chown 0 /tmp/shell 2>/dev/null && echo "gave a file to root"
mount -t tmpfs none /mnt 2>/dev/null && echo "mounted"
mknod /tmp/disk b 254 0 2>/dev/null && echo "made a device"
setpriv --reuid=60000 true 2>/dev/null && echo "became the plan's user"
ulimit -u 1000000 2>/dev/null && echo "raised processes"
ulimit -n 1000000 2>/dev/null && echo "raised files"
cd /; (env -i setsid sleep 86400.${process.pid} >/dev/null 2>&1 </dev/null &)
rm -rf /tmp/.cache 2>/dev/null; mv /tmp/.cache /tmp/moved 2>/dev/null && echo "took the runner's cache"
ls -d /tmp/.cache/stepform
echo "looked everywhere"
`;

const sleepers = (): number =>
  readdirSync('/proc').filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(`86400.${process.pid}`);
    } catch {
      return false;
    }
  }).length;

/** The container has a /tmp of its own, so a project below /tmp is not in it. */
const hasProject = !import.meta.dirname.startsWith('/tmp/');
const notInContainer = hasProject ? notSeparated : ' (skipped: the project is below /tmp, which this container hides)';

describe.runIf(separatesUsers && hasProject)('in a container as on Fargate', () => {
  it(`Terraform reaches neither the runner nor its files, gets no rights, and leaves no process${notInContainer}`, async () => {
    const main =
      'resource "terraform_data" "a" {\n  provisioner "local-exec" {\n    command = "bash ./look.sh"\n  }\n}\n';
    const configuration = await archive({ 'main.tf': main, 'look.sh': look });
    const { record, report } = await bench.planAndApply(configuration, {}, environment);
    expect(report).toMatchObject({ outcome: 'finished' });
    const lines = textOf(record).match(/(?<=\(local-exec\): )(?!Executing).*/g);
    expect(lines).toEqual([
      ...['CapPrm', 'CapEff'].map((set) => `${set}:\t${'0'.repeat(16)}`),
      expect.stringMatching(/^CapBnd:/),
      'NoNewPrivs:\t1',
      'runner is seen',
      '/tmp/.cache/stepform',
      'looked everywhere',
    ]);
    await expect.poll(sleepers).toBe(0);
  }, 60_000);

  const reports = new Reports();
  beforeAll(() => reports.listen());
  afterAll(() => reports.close());

  it.runIf(hasGo)(
    `a provider cannot reach the Terraform that reads the plan${notInContainer}`,
    async () => {
      const main = 'resource "drift_file" "a" {\n  path    = "a"\n  content = "judged"\n}\n';
      const content = await withScriptAsProvider(main, reachingProvider(reports.port));
      const { report } = await bench.run(jobFor(bench.plane, content, { structuredOutput: true }), environment);
      expect(report).toMatchObject({ outcome: 'finished', counts: { additions: 1 } });
      for (const command of ['show -json', 'schema -json', 'plan'])
        expect(reports.from(command).length, command).toBeGreaterThan(0);
      expect(reports.deeds).toEqual([]);
    },
    60_000,
  );
});
