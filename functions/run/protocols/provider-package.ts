/** Names of a provider's package, shared by runners and the platform: each part becomes part of a path or of a URL. */

/** `registry.terraform.io/hashicorp/aws` */
export const addressForm = /^[a-z0-9][a-z0-9.-]*(:\d+)?\/[a-z0-9][a-z0-9_-]*\/[a-z0-9][a-z0-9_-]*$/i;
export const versionForm = /^\d+\.\d+\.\d+([+-][0-9A-Za-z.+-]+)?$/;
/** In Terraform's form: `linux_arm64`. */
export const platformForm = /^[a-z0-9]+_[a-z0-9]+$/;

/** The registry in an address. */
export const hostOf = (address: string): string => address.slice(0, address.indexOf('/')).toLowerCase();
