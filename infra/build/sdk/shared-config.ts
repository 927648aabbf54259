export const CONFIG_PREFIX_SEPARATOR = '.';

/** A function has an environment and no home with configuration files. */
export const loadSharedConfigFiles = async () => ({ configFile: {}, credentialsFile: {} });
