import { serve } from '#test/support/serve.ts';

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
  const server = await serve((_, response) => {
    timers.add(setTimeout(() => response.writeHead(404).end(), afterMs));
    wasAsked();
  });
  const { port } = new URL(server.url);
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
      await server.close();
    },
  };
};
