/**
 * The state machine with another time limit of run tasks, which is fixed on AWS, so that users can try what a missed
 * one does. A result takes at most six times as long as the wait for one progress update, as on AWS.
 */
export const withRunTaskSeconds = (definition: object, seconds: number): object => {
  const limited = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(limited);
    if (value === null || typeof value !== 'object') return value;
    const state = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, limited(part)])) as Record<
      string,
      unknown
    >;
    // The phases, which send heartbeats too, take their time limit from the input.
    const isRunTask = state.HeartbeatSeconds !== undefined && state.TimeoutSeconds !== undefined;
    return isRunTask ? { ...state, HeartbeatSeconds: seconds, TimeoutSeconds: 6 * seconds } : state;
  };
  return limited(definition) as object;
};
