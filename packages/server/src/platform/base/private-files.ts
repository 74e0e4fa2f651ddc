// Files that only the user of the server may read: the database, the encryption key, mail that became a file.
import { chmodSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

const find = (path: string) => statSync(path, { throwIfNoEntry: false })

/**
 * Makes a folder and those above it, for this user alone. Not `mkdirSync` with `recursive`: it never returns where the system
 * answers ENOENT for a folder that cannot be made, such as /proc/x.
 */
export function makePrivateFolder(folder: string): void {
	if (find(folder)?.isDirectory()) return
	if (dirname(folder) !== folder) makePrivateFolder(dirname(folder))
	try {
		mkdirSync(folder, { mode: 0o700 })
	} catch (error) {
		// Another process may have made it meanwhile.
		if (!find(folder)?.isDirectory()) throw error
	}
}

/** Whether others than the owner may read, write or enter the file or folder; false when there is none. */
export const isOpenToOthers = (path: string): boolean => ((find(path)?.mode ?? 0) & 0o077) !== 0

/** Takes the rights of others away; false when this user may not. */
export function makePrivate(path: string): boolean {
	if (!isOpenToOthers(path)) return true
	try {
		chmodSync(path, statSync(path).mode & 0o700)
		return true
	} catch {
		return false
	}
}
