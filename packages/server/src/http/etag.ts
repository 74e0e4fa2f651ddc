// Entity tags are the record's version, quoted. An invoice's gets a suffix when it was viewed and while it is overdue, since
// the answer then differs although nobody wrote it; If-Match asks about the version alone.
import { ApiError } from '../base/errors.ts'

export function etag(version: number, suffix = ''): string {
	return `"${version}${suffix}"`
}

/** Whether `If-None-Match` names this tag (weak comparison, RFC 9110 §8.8.3.2). */
export function matchesTag(header: string, tag: string): boolean {
	return header.trim() === '*' || tags(header).some((named) => named.replace(/^W\//, '') === tag)
}

/** Throws 412 when `If-Match` is there and does not name the version (strong comparison: `W/"1"` names nothing). */
export function expectVersion(header: string | undefined, version: number): void {
	if (header === undefined || header.trim() === '*') return
	const versions = tags(header).map((tag) => /^"(\d+)[a-z0-9-]*"$/.exec(tag)?.[1])
	if (versions.includes(String(version))) return
	const detail = `The record is at version ${version}, not at ${header}: read it again.`
	throw new ApiError('version_mismatch', detail, { errors: [{ parameter: 'If-Match', code: 'version_mismatch', detail }] })
}

const tags = (header: string) => header.split(',').map((tag) => tag.trim())
