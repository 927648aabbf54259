export { ModuleView } from '../views/registry/module.tsx';
export { Modules } from '../views/registry/modules.tsx';
export { ProviderView } from '../views/registry/provider.tsx';
export { Providers } from '../views/registry/providers.tsx';
export { TestRunView } from '../views/registry/test-run.tsx';
export { ModuleOfWorkspace } from '../views/registry/upgrade.tsx';
