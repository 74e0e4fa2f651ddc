// An entity tag is the record's version, quoted. An invoice's tag has a suffix for its views and while it is overdue, because
// these change the answer but not the version; so has the tag of an invoice that is shown with its company or deal. If-Match compares
// the version alone.
import { ApiError } from '../base/errors.ts'

export function etag(version: number, suffix = ''): string {
	return `"${version}${suffix}"`
}

/** Whether `If-None-Match` names this tag (weak comparison, RFC 9110 §8.8.3.2). */
export function matchesTag(header: string, tag: string): boolean {
	return header.trim() === '*' || tags(header).some((named) => named === tag || uncompressed(named) === tag)
}

/**
 * Throws 412 when the request has `If-Match` without this version. RFC 9110 §13.1.1 would have a weak tag never match, but nginx makes a tag
 * weak when it compresses the answer: the version is still the one that was read.
 */
export function expectVersion(header: string | undefined, version: number): void {
	if (header === undefined || header.trim() === '*') return
	const versions = tags(header).map((tag) => given.exec(uncompressed(tag))?.[1])
	if (versions.includes(String(version))) return
	const detail = `The record is at version ${version}, not at ${header}: read it again.`
	throw new ApiError('version_mismatch', detail, { errors: [{ parameter: 'If-Match', code: 'version_mismatch', detail }] })
}

/** A tag as the server gives it: the version, and the suffixes of an invoice's tag. */
const given = /^"(\d+)(?:-(?:viewed|overdue|company|deal)\d*)*"$/

/** The tags that a header names, each as a strong one. */
const tags = (header: string) => header.split(',').map((tag) => tag.trim().replace(/^W\//, ''))

/** The tag that the server gave: Apache and others append the encoding when they compress an answer. */
const uncompressed = (tag: string) => tag.replace(/(-|;|--)(gzip|br|zstd|deflate)"$/, '"')
