import { readdirSync, readFileSync, statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { client, newWorkspace, type Resource, readLog, startRun, untilFinal } from '#test/e2e/support/world.ts';
import { notSeparated, separatesUsers } from './plan-code.ts';

/** Leftovers and resource use of runs, on a machine that they share with runs of other organizations. */

const attack = it.runIf(separatesUsers);
const title = (text: string) => `${text}${notSeparated}`;

const provisioner = (command: string) =>
  `resource "terraform_data" "a" {\n  provisioner "local-exec" {\n    command = ${JSON.stringify(command)}\n  }\n}\n`;

const start = async (script: string, variables: Record<string, string> = {}): Promise<Resource> => {
  const workspace = await newWorkspace({ 'auto-apply': true, 'structured-run-output-enabled': false });
  for (const [key, value] of Object.entries(variables))
    await client.setVariable(workspace.id, { key, value, category: 'env' });
  return startRun(workspace, { 'main.tf': provisioner('bash ./attack.sh 2>&1'), 'attack.sh': script });
};

/** @returns the script's output */
const runScript = async (script: string, variables: Record<string, string> = {}): Promise<string> => {
  const run = await start(script, variables);
  const final = await untilFinal(run);
  const log = await readLog(run, 'apply');
  expect([final.attributes.status, log]).toEqual(['applied', expect.anything()]);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours
  const lines = log.replace(/\u001B\[[0-9;]*m/g, '').split('\n');
  return lines.flatMap((line) => /\(local-exec\): (?!Executing)(.*)$/.exec(line)?.[1] ?? []).join('\n');
};

/** Users of runs have ids from here on. */
const firstUser = 60_000;

const filesOfRuns = (folder: string): string[] =>
  readdirSync(folder).filter((name) => {
    try {
      return statSync(`${folder}/${name}`).uid >= firstUser;
    } catch {
      return false;
    }
  });

attack(
  title('files with a set-user-id bit, shared memory and message queues outlive no run, and give no user its rights'),
  async () => {
    const name = `stepform-left-${process.pid}`;
    const shm = () => readFileSync('/proc/sysvipc/shm', 'utf8').trim().split('\n').length;
    const before = shm();
    const left = await runScript(
      `for folder in /tmp /var/tmp /dev/shm /run/lock /dev/mqueue "$HOME" .; do
  cp /bin/sh $folder/${name} 2>/dev/null && chmod 6755 $folder/${name} && echo "left in $folder"
done
cp /usr/bin/id ./as-me && chmod 6755 ./as-me && echo "owner $(stat -c %u ./as-me), now $(./as-me -u)"
chmod 6755 ./as-me; grep NoNewPrivs /proc/self/status
ipcmk -M 65536 -p 0666 && ipcmk -Q -p 0666 && ipcmk -S 1 -p 0666 && echo made`,
    );
    expect(left).toContain('left in /tmp');
    expect(left).toMatch(/NoNewPrivs:\s+1/);
    expect(left).toContain('made');
    expect(shm()).toBe(before);
    const found = await runScript(
      `echo "files: $(ls /tmp/${name} /var/tmp/${name} /dev/shm/${name} 2>/dev/null | wc -l), ipc: $(ipcs | grep -c 0x)"`,
    );
    expect(found).toContain('files: 0, ipc: 0');
    for (const folder of ['/tmp', '/var/tmp', '/dev/shm', '/run/lock']) expect(filesOfRuns(folder)).toEqual([]);
  },
);

attack(title('a run that binds many names of the machine does not prevent other runs from starting'), async () => {
  const binding = `for (const first of [60000, 1900000000]) for (let n = 0; n < 5000; n++)
  require('node:net').createServer().on('error', () => {}).listen('\\0stepform-user-' + (first + n));
setTimeout(() => { console.log('bound'); }, 500);
setTimeout(() => process.exit(), 8000);`;
  const binder = await start(
    `echo ${Buffer.from(binding).toString('base64')} | base64 -d > bind.js; timeout 10 node bind.js; true`,
  );
  await client.waitForRun(binder.id, ({ attributes }) => attributes.status === 'applying');
  expect(await runScript('echo "as ever"')).toContain('as ever');
  await untilFinal(binder);
});

attack(title('a fork bomb leaves capacity for other runs, and ends with its run'), async () => {
  const bomb = await start(`bomb() { bomb | bomb & }; bomb 2>/dev/null; exec sleep 600`);
  const ofRuns = () => readdirSync('/proc').filter((pid) => readCommand(pid).includes('attack.sh'));
  await expect.poll(() => ofRuns().length, { timeout: 60_000 }).toBeGreaterThan(50);
  expect(await runScript('echo "as ever"')).toContain('as ever');
  await client.act(bomb.id, 'cancel');
  expect((await untilFinal(bomb)).attributes.status).toBe('canceled');
  await expect.poll(ofRuns).toEqual([]);
});

attack(
  title('temporary folders, open files and one file’s size are bounded, and limits cannot be raised'),
  async () => {
    const log = await runScript(
      `for folder in /tmp /var/tmp /dev/shm; do
  fallocate -l 8G $folder/full 2>/dev/null && echo "filled $folder"
  n=0; mkdir $folder/many; size=$(df --output=size -k $folder | tail -1); [ "$size" -le 1048576 ] && echo "$folder is small"
done
ulimit -n 1000000 2>/dev/null && echo "raised files"
ulimit -u 1000000 2>/dev/null && echo "raised processes"
ulimit -f unlimited 2>/dev/null && echo "raised file size"
truncate -s 20G ./big 2>/dev/null && echo "made a big file"
echo looked`,
    );
    expect(log).toContain('looked');
    expect(log.match(/is small/g)).toHaveLength(3);
    expect(log).not.toMatch(/^(filled|raised|made)/m);
  },
);

attack(title('a run sees neither processes nor temporary files of another run'), async () => {
  const secret = `secret-${process.pid}`;
  const victim = await start(
    `echo x > /tmp/${secret}; chmod 666 /tmp/${secret}; timeout 10 sleep 15.${process.pid}; true`,
  );
  await expect
    .poll(() => readdirSync('/proc').some((pid) => readCommand(pid).includes(`15.${process.pid}`)), { timeout: 60_000 })
    .toBe(true);
  const log = await runScript(
    `cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c "15[.]${process.pid}"; find /tmp /proc/[0-9]*/root/tmp -name ${secret} 2>/dev/null; echo looked`,
  );
  expect(log).toContain('looked');
  expect(log).toMatch(/^0$/m);
  expect(log).not.toContain(secret);
  await untilFinal(victim);
});

const readCommand = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
};

attack(title('variables of a workspace do not reach programs of root'), async () => {
  const name = `stepform-debug-${process.pid}`;
  // The dynamic linker of every program writes such a file to its working directory.
  const log = await runScript(`ls | grep -c ${name}`, { LD_DEBUG: 'files', LD_DEBUG_OUTPUT: name });
  expect(log).toMatch(/^[1-9]\d*$/m);
  expect(readdirSync('/').filter((file) => file.startsWith(name))).toEqual([]);
});
