import { fileURLToPath } from 'node:url'

/** The command as it is built and packed. */
export const built = fileURLToPath(new URL('../../bin/remit.js', import.meta.url))
