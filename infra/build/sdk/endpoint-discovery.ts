/** No DynamoDB operation uses endpoint discovery, whose cache depends on two more packages. */
export const NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS = {
  environmentVariableSelector: () => false,
  configFileSelector: () => undefined,
  default: false,
};
export const resolveEndpointDiscoveryConfig = (config: object): object =>
  Object.assign(config, { endpointDiscoveryEnabled: async () => false, isClientEndpointDiscoveryEnabled: false });
