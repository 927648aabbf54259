/** How an organization shares modules (module-sharing.ts). */
export interface ModuleSharing {
  /** Shares its modules with every organization of the platform. */
  globalModuleSharing?: boolean;
  /** Organizations that can use its modules; never together with global sharing. */
  moduleConsumers?: Set<string>;
  /** Organizations that may share their modules with this one. */
  moduleProducers?: Set<string>;
}
