/** What a provider's package is called, by runners and by the platform: each part becomes part of a path or of a URL. */

/** `registry.terraform.io/hashicorp/aws` */
export const addressForm = /^[a-z0-9][a-z0-9.-]*(:\d+)?\/[a-z0-9][a-z0-9_-]*\/[a-z0-9][a-z0-9_-]*$/i;
export const versionForm = /^\d+\.\d+\.\d+([+-][0-9A-Za-z.+-]+)?$/;
/** As Terraform names it: `linux_arm64`. */
export const platformForm = /^[a-z0-9]+_[a-z0-9]+$/;

/** The registry that an address is of. */
export const hostOf = (address: string): string => address.slice(0, address.indexOf('/')).toLowerCase();
