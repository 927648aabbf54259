/** Configurations can use this host on every platform, for "the server in use" (HCP Terraform: generic hostname). */
export const genericHost = 'localterraform.com';
