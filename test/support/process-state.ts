/** Values of globals; getters belong to Node, which loads their modules on first use. */
const globals = (): Map<PropertyKey, unknown> =>
  new Map(
    Object.entries(Object.getOwnPropertyDescriptors(globalThis))
      .filter(([name, descriptor]) => 'value' in descriptor && !name.startsWith('__vitest'))
      .map(([name, { value }]) => [name, value]),
  );

/**
 * Records process state that modules share besides packages.
 * @returns a function that restores environment and working directory; it throws if a global was replaced permanently,
 * instead of by `vi.stubGlobal` for one file
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
