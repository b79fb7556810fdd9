declare module 'smtp-server/lib/sasl.js' {
  /** A step of a mechanism. The library calls it with the connection as `this`. */
  export type Step = (
    this: unknown,
    canAbort: boolean,
    given: Buffer | string | undefined,
    callback: () => void,
  ) => void;
  const mechanisms: { LOGIN_username: Step };
  export default mechanisms;
}
