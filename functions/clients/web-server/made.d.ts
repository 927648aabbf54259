/** Made by infra/build/served-files.ts while the functions are bundled. */
declare module 'stepform:page' {
  const files: import('./files.ts').PageFiles;
  export default files;
}

declare module 'stepform:docs' {
  const files: import('./files.ts').DocsFiles;
  export default files;
}
