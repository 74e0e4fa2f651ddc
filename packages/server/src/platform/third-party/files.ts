// Files of other packages that are served or drawn with. The build copies them: of fonts and of Swagger UI a package of the server
// needs a fifth.
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const require = createRequire(import.meta.url)

/** The path of a file such as `swagger-ui-dist/LICENSE`. */
export function thirdPartyFile(specifier: string): string {
	const copy = fileURLToPath(new URL(`../../../third-party/${specifier}`, import.meta.url))
	return existsSync(copy) ? copy : require.resolve(specifier)
}
