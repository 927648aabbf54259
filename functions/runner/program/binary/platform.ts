const systems: Record<string, string> = { win32: 'windows' };
const architectures: Record<string, string> = { x64: 'amd64', ia32: '386' };
const system = systems[process.platform] ?? process.platform;
const architecture = architectures[process.arch] ?? process.arch;

/** Terraform's name for this machine's platform: `linux_arm64`. */
export const platform = `${system}_${architecture}`;
