import type { ReactNode } from 'react'
import './badge.css'

export type Tone = 'plain' | 'accent' | 'good' | 'warn' | 'bad'

/** A status in words; the colour only helps. */
export const Badge = ({ tone = 'plain', children }: { tone?: Tone; children: ReactNode }) => (
	<span className={`badge ${tone}`}>{children}</span>
)
