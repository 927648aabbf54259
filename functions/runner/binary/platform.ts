const systems: Record<string, string> = { win32: 'windows' };
const architectures: Record<string, string> = { x64: 'amd64', ia32: '386' };
const system = systems[process.platform] ?? process.platform;
const architecture = architectures[process.arch] ?? process.arch;

/** This machine, as Terraform names it: `linux_arm64`. */
export const platform = `${system}_${architecture}`;
