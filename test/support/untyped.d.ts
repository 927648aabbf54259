declare module 'dynalite';
declare module 'asl-validator';
