/** Lambda tells the region in the environment. */
export const getInstanceMetadataRegion = async () => undefined;
