import { unprocessable } from '#api/errors.ts';
import { AgentPoolGoneError } from './uses.ts';

/** Reports a pool that was deleted after its check. */
export const withPool = async <T>(write: () => Promise<T>, at = pointer): Promise<T> => {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof AgentPoolGoneError)) throw error;
    throw unprocessable(at, 'agent-pool-id: this agent pool was deleted at the same time');
  }
};

export const pointer = '/data/attributes/agent-pool-id';
