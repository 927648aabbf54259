import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Makes `terraform plan` wait: a state at a server that does not answer for a while. */
export interface SlowState {
  configuration: string;
  /** Resolves when terraform waits. */
  asked: Promise<void>;
  close(): Promise<void>;
}

/** Longer than a cancel takes to reach the runner, and shorter than the tests' time limits. */
const answersAfterMs = 15_000;

export const slowState = async (afterMs = answersAfterMs): Promise<SlowState> => {
  let wasAsked = () => {};
  const requested = new Promise<void>((resolve) => {
    wasAsked = resolve;
  });
  const timers = new Set<NodeJS.Timeout>();
  const server = createServer((_, response) => {
    timers.add(setTimeout(() => response.writeHead(404).end(), afterMs));
    wasAsked();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    configuration: `data "terraform_remote_state" "slow" {
  backend = "http"
  config  = { address = "http://127.0.0.1:${port}/", retry_max = 0 }
}
output "n" { value = data.terraform_remote_state.slow.outputs }
`,
    asked: requested,
    close: async () => {
      for (const timer of timers) clearTimeout(timer);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
