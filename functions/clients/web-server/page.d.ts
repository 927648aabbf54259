/** Made by infra/stack/page.ts while the function is bundled. */
declare module 'stepform:page' {
  const files: import('./files.ts').PageFiles;
  export default files;
}
