import type { Knex } from 'knex'
import { scheduleWalks } from './schedule-walks.ts'

/** It only adds jobs: servers of before leave them to newer ones. */
export const needs = 0

/** Names of before are trimmed and composed, as those that come in (accounts/organizations/trim-store.ts). */
export const up = (knex: Knex) => scheduleWalks(knex, 'trimNames')
