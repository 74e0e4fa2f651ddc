// The CPU time of this process and of the processes that it started.
import { readFileSync } from 'node:fs'

const stat = '/proc/self/stat'
/** Of which a second has a hundred on every Linux. */
const secondsOfTick = 0.01

/** Of ended children that were waited for, and of theirs: cutime and cstime, the 16th and 17th field. The second is a name, which may have anything. */
export function cpuOfChildren(text: string): number {
	const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
	return (Number(fields[13]) + Number(fields[14])) * secondsOfTick
}

function readChildren(): number {
	try {
		return cpuOfChildren(readFileSync(stat, 'utf8'))
	} catch {
		// Only Linux tells it.
		return 0
	}
}

/** Seconds since this process began, with all its threads and ended children. */
export function cpuSeconds(): number {
	const { user, system } = process.cpuUsage()
	return (user + system) / 1e6 + readChildren()
}
