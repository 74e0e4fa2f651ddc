/** The version of this package. A test compares it with package.json, which is not part of what is built. */
export const version = '0.1.0'
