/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array.h - how many elements an array has.
 */
#ifndef AW_POLICY_ARRAY_H
#define AW_POLICY_ARRAY_H

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#endif
