/** Values of globals; getters are Node's, which loads what is behind them when it is used. */
const globals = (): Map<PropertyKey, unknown> =>
  new Map(
    Object.entries(Object.getOwnPropertyDescriptors(globalThis))
      .filter(([name, descriptor]) => 'value' in descriptor && !name.startsWith('__vitest'))
      .map(([name, { value }]) => [name, value]),
  );

/**
 * Remembers what modules share in a process beside packages.
 *
 * @returns what brings back environment and working directory; it throws where a global was replaced for good, which
 * `vi.stubGlobal` does for one file
 */
export const rememberProcess = (): (() => void) => {
  const folder = process.cwd();
  const { env } = process;
  const environment = { ...env };
  const before = globals();
  return () => {
    if (process.cwd() !== folder) process.chdir(folder);
    const isEnvironmentReplaced = process.env !== env;
    process.env = env;
    for (const name of Object.keys(process.env)) if (!Object.hasOwn(environment, name)) delete process.env[name];
    Object.assign(process.env, environment);
    const now = globals();
    const replaced = [...before]
      .filter(([name, value]) => !Object.is(now.get(name), value))
      .map(([name]) => String(name));
    // A copy of it does not reach child processes and native code.
    if (isEnvironmentReplaced) replaced.push('process.env');
    if (replaced.length > 0) throw new Error(`globals were replaced and not restored: ${replaced.join(', ')}`);
  };
};
