/** The version to download or build; a binary on the PATH takes precedence. */
export const opaVersion = '1.19.0';

/** SHA-256 of that release's files (OPA releases: `<file>.sha256`), by platform and architecture as Node names them. */
export const released: Record<string, { file: string; sha256: string }> = {
  'linux x64': {
    file: 'opa_linux_amd64_static',
    sha256: '1dd5c5591ff856f5e20a1d66bafae9511ddf3c5552ed3b5070c70b2b6580ee3f',
  },
  'linux arm64': {
    file: 'opa_linux_arm64_static',
    sha256: '06680087ed236c8c6aaa021660d83178db829a2ad30bdb3482481fada6791b2a',
  },
  'darwin arm64': {
    file: 'opa_darwin_arm64_static',
    sha256: '6de003137cc54b65cb4a6a9c7cf6b29a248f10c1c16fc34f793a8a83b5f9d004',
  },
  'darwin x64': {
    file: 'opa_darwin_amd64',
    sha256: 'a6bb096502d176a23b721e023f3ca615a0e4773fec69511143093a2281118f5c',
  },
};
