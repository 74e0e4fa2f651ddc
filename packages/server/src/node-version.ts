// Which Node the server needs. It imports nothing, so that every Node can load it and say so.

/** The first with argon2 in node:crypto. */
export const neededNode = '24.7'

/** What to tell whoever starts the server on an older Node; nothing on one that it runs on. */
export function missingNode(version = process.version): string | undefined {
	const [major = 0, minor = 0] = version.slice(1).split('.').map(Number)
	const [neededMajor = 0, neededMinor = 0] = neededNode.split('.').map(Number)
	if (major > neededMajor || (major === neededMajor && minor >= neededMinor)) return undefined
	return `Remit needs Node ${neededNode} or newer and this is ${version}.`
}
