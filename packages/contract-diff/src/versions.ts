// The version that a change requires. Before 1.0.0 (semver §4) this follows npm's caret: a breaking change is a minor version,
// an addition a patch.
import { ContractError } from './document.ts'

export type Verdict = 'breaking' | 'additive' | 'none'
export type Bump = 'major' | 'minor' | 'patch' | 'none'

interface Version {
	readonly major: number
	readonly minor: number
	readonly patch: number
	readonly pre: string
}

const SEMVER = /^(\d+)\.(\d+)\.(\d+)(?:-([\w.-]+))?(?:\+[\w.-]+)?$/

function parse(version: string): Version | undefined {
	const match = SEMVER.exec(version)
	if (!match) return undefined
	const [, major, minor, patch, pre = ''] = match
	return { major: Number(major), minor: Number(minor), patch: Number(patch), pre }
}

/** A version that is not semver counts as 1.x. */
export function bumpFor(verdict: Verdict, base: string): Bump {
	if (verdict === 'none') return 'none'
	const early = parse(base)?.major === 0
	if (verdict === 'breaking') return early ? 'minor' : 'major'
	return early ? 'patch' : 'minor'
}

/** The least version with the bump. */
export function nextVersion(base: string, bump: Bump): string {
	const version = parse(base)
	if (!version || bump === 'none') return base
	// A pre-release promises nothing yet (semver §9): its release is the next version.
	if (version.pre !== '') return `${version.major}.${version.minor}.${version.patch}`
	if (bump === 'major') return `${version.major + 1}.0.0`
	return bump === 'minor' ? `${version.major}.${version.minor + 1}.0` : `${version.major}.${version.minor}.${version.patch + 1}`
}

function compare(left: Version, right: Version): number {
	return left.major - right.major || left.minor - right.minor || left.patch - right.patch
}

/** Whether `head` is far enough above `base`; a pre-release counts as its release, so 2.0.0-rc.1 is a major bump of 1.4.0. */
export function carries(base: string, head: string, bump: Bump): boolean {
	if (bump === 'none') return true
	const [from, to, least] = [base, head, nextVersion(base, bump)].map(parse)
	if (!from || !to || !least)
		throw new ContractError(`info.version must be like 1.2.3 in both documents: found "${base}" and "${head}"`)
	if (from.pre !== '') return compare(to, from) > 0 || (compare(to, from) === 0 && base !== head)
	return compare(to, least) >= 0
}
